"""The web application of `assay serve`. The only package that imports the web framework; see `app.create_app`."""
