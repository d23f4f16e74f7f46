"""The manifest, stand-ins, sizes and sums."""

import pytest
from checkout import ROOT
from refusals import refuses_texts

from calbias.errors import InputError
from calbias.io.checksums import file_digest
from calbias.logits.manifest import (
    PublishedFile,
    placeholder,
    published_file,
    read_manifest,
    verify,
)

MANIFEST = ROOT / "resources" / "published" / "nn_calibration_logits_manifest.csv"


def test_published_manifest():
    manifest = read_manifest(MANIFEST)
    assert manifest["resnet152_imgnet"][3:] == (200400343, 1000, 25000, 25000)
    assert manifest["resnet50_birds"].n_test is None
    assert all(len(entry.sha256) == 64 for entry in manifest.values())


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "a git-LFS pointer"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"\xef\xbb\xbf\r\n <HTML lang=en>", "an HTML page"),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied", "an HTML page"),
        (b"\x80\x03]q\x00(", None),
        (b"label,a,b\n", None),
        (b"version,a,b\n", None),
        (b"", None),
    ],
)
def test_stand_ins(head, found):
    assert placeholder(head) == found


def test_verify_names_what_differs(tmp_path):
    path = tmp_path / "f.p"
    path.write_bytes(b"12345")
    right = PublishedFile("m", "f.p", file_digest(path), 5, 10, 1, 1)
    verify(path, right)
    for wrong, file, message in (
        (right._replace(n_bytes=6), path, r"f\.p: has 5 bytes, the published m has 6; download it"),
        (right._replace(sha256="0" * 64), path, r"f\.p: sha256 is 5994471abb01…, that of the pub"),
        (right, tmp_path / "absent.p", "no such file"),
    ):
        with pytest.raises(InputError, match=message):
            verify(file, wrong)


test_other_tables_are_no_manifest = refuses_texts(
    read_manifest, "manifest.csv",
    ("model,file,sha256,bytes,n_classes,n_validation,n_test\nm,f,0,many,10,1,1\n",
     "line 2: invalid literal"),
)  # fmt: skip


def test_unknown_model():
    with pytest.raises(InputError, match=r"manifest\.csv: no model mine; only published files"):
        published_file("mine", {}, "manifest.csv")
