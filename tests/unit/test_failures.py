"""The errors of failed jobs, repeated at the end of a run."""

from calbias.pipeline.failures import errors_of


def test_the_one_line_errors_of_the_jobs_that_failed(tmp_path):
    for name, text in {
        "a.log": "warning: x\nerror: a.csv: bad\n",
        "b.log": "error: a.csv: bad\nerror: b.csv: worse\n",
        "c.log": "error: of a job that did not fail\n",
    }.items():
        (tmp_path / name).write_text(text)
    said = "".join(
        f"Error in rule x:\n    log: {names} (check log file(s) for error details)\n"
        for names in (f"{tmp_path}/a.log", f"{tmp_path}/b.log, {tmp_path}/missing.log")
    )
    (tmp_path / "run.log").write_text(said + f"    log: {tmp_path}/c.log\n")
    assert errors_of([tmp_path / "run.log"]) == ["error: a.csv: bad", "error: b.csv: worse"]
