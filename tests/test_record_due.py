"""Which answers of torch are checked again (edited files, one part of the others), and how."""

import numpy

from tests import recorded


def test_an_edited_file_is_due(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "tests" / "answers")
    file, beside = tmp_path / "tests" / "test_sums.py", tmp_path / "tests" / "cases.py"
    recorded.FOLDER.mkdir(parents=True)
    file.write_text("SUMS = [1, 2]\n")
    assert recorded.changed(file)  # nothing was recorded
    tape = [["()", ["=", 3], []]]
    for text, partly, due in (("1", False, False), ("2", True, True), ("2", False, False)):
        file.write_text(f"SUMS = [{text}]\n")
        recorded.save(file, {"test_all": tape}, not partly)
        recorded._read.cache_clear(), recorded.load.cache_clear()
        assert recorded.changed(file) == due, (text, partly)
        assert recorded.load(file) == {"test_all": tape}
    beside.write_text("CASES = []\n")
    assert recorded.changed(file)
    recorded._read.cache_clear(), recorded.load.cache_clear()


def test_every_file_is_in_one_part():
    files = [recorded.FOLDER.parent / f"ops/test_{i}.py" for i in range(40)]
    for file in files:
        assert [recorded.in_part(file, f"{k}/4") for k in range(20, 24)].count(True) == 1
    assert {k for k in range(4) for f in files if recorded.in_part(f, f"{k}/4")} == {0, 1, 2, 3}


def test_answers_agree_as_two_processors_do():
    def tape(*numbers):
        return [["()", recorded.TAPE.encoded(numpy.array(numbers, "float32"))[0], []]]

    assert recorded.same(tape(1.5, 2.5), tape(1.5, 2.51))  # bfloat16's bits
    assert not recorded.same(tape(1.5, 2.5), tape(1.5, 2.75))
    assert not recorded.same(tape(0.1, 0.2), tape(0.1, 0.201))
    for none_finite in ([numpy.inf, numpy.nan], [-numpy.inf], [numpy.nan], []):
        assert recorded.same(tape(*none_finite), tape(*none_finite))
        assert not recorded.same(tape(*none_finite), tape(*none_finite, 1.0))
    assert not recorded.same(tape(numpy.inf), tape(1.0))
