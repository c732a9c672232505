"""Results for people: tables, verdicts, pages."""
