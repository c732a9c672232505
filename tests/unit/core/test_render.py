"""Where lines of a page may break."""

from __future__ import annotations

import re

from assay.core.render import breakable, whole_options


def test_options_stay_whole_and_the_command_reads_as_before() -> None:
    command = "assay roar --base 'a--b <c>' --test-limit 6 -- --store s"
    html = str(whole_options(command))
    assert re.findall(r'<span class="option">(.*?)</span>', html) == ["--base", "--test-limit", "--store"]
    assert re.sub(r"</?span[^>]*>", "", html) == command.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")


def test_names_break_after_underscores_commas_and_brackets() -> None:
    assert breakable("a_b(c,<d>)") == "a_<wbr>b(<wbr>c,<wbr>&lt;d&gt;)"
