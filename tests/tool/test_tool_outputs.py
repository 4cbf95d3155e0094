# SPDX-License-Identifier: Apache-2.0
"""Where the outputs of gpuprim go: links, permissions, names left over, standard output, devices.

Usage: test_tool_outputs.py <gpuprim>, in an empty folder
"""
import os
import stat
import subprocess
import sys

tool = sys.argv[1]
turned = bytes(4 * (r * 4 + c) if i == 0 else 0 for c in range(4) for r in range(3) for i in range(4))
plain = bytes(4 * e if i == 0 else 0 for e in range(12) for i in range(4))


def content(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, data, mode=0o644):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def transpose(out, **how):
    return subprocess.run([tool, "transpose", "--shape", "3x4", "in.raw", out], stderr=subprocess.PIPE, **how)


def written(out, **how):
    done = transpose(out, **how)
    assert done.returncode == 0 and done.stderr == b"", (out, done)


def folder():
    """Its files. What links lead to is left out: a descriptor may be the log of ctest, which grows meanwhile."""
    return {name: content(name) for name in os.listdir(".") if os.path.isfile(name) and not os.path.islink(name)}


def refused(text, *words):
    """One line that holds the text, and the folder as it was."""
    before = folder()
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, (words, done)
    assert text in done.stderr and ".tmp-" not in done.stderr, (words, done.stderr)
    assert before == folder(), words


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_leftovers():
    """Names that an earlier process of the same number left: neither read nor in the way."""
    for name in ("o.raw", "o.png"):
        for old in ("tmp-$$", "part-$$-0"):
            script = f'head -c 100000 /dev/zero >{name}.{old}; exec "$0" transpose --shape 3x4 --elem 1 bytes.raw {name}'
            if name == "o.png":
                script = f'head -c 100000 /dev/zero >{name}.{old}; exec "$0" transpose bytes.npy {name}'
            done = subprocess.run(["sh", "-c", script, tool], capture_output=True)
            assert done.returncode == 0 and done.stderr == b"", (script, done)
            assert len(content(name)) == 12 if name == "o.raw" else content(name).endswith(b"IEND\xaeB`\x82"), script
    for name in os.listdir("."):
        if ".tmp-" in name or ".part-" in name:
            os.unlink(name)


def test_links():
    os.mkdir("far")
    put("far/old.raw", b"before")
    os.symlink("far/old.raw", "link.raw")
    os.symlink("link.raw", "chain.raw")
    for name in ("link.raw", "chain.raw"):
        put("far/old.raw", b"before")
        written(name)
        assert os.path.islink(name) and content("far/old.raw") == turned, name
    os.symlink("nothing.raw", "dangling.raw")
    refused("dangling.raw: is a link to a file that is not there", "transpose", "--shape", "3x4", "in.raw", "dangling.raw")
    os.symlink("loop.raw", "loop.raw")
    refused("loop.raw: Too many levels", "transpose", "--shape", "3x4", "in.raw", "loop.raw")
    assert os.path.islink("dangling.raw") and os.path.islink("loop.raw") and not os.path.exists("nothing.raw")
    assert os.listdir("far") == ["old.raw"]


# Runs a program as a user whom permissions bind, root too; empty: not to be had here.
bound = [] if os.getuid() != 0 else ["setpriv", "--bounding-set=-dac_override"]
if bound and subprocess.run([*bound, "true"], stderr=subprocess.DEVNULL).returncode != 0:
    bound = None


def test_modes():
    for bits in (0o600, 0o640, 0o666, 0o444)[:4 if os.getuid() == 0 else 3]:  # root may write them all
        put("mode.raw", b"before", bits)
        put("mode.png", b"before", bits)
        written("mode.raw")
        done = subprocess.run([tool, "transpose", "bytes.npy", "mode.png"])
        assert done.returncode == 0 and (mode("mode.raw"), mode("mode.png")) == (bits, bits), oct(bits)
        os.unlink("mode.raw")
        os.unlink("mode.png")
    for mask in (0o022, 0o077):
        written("new.raw", preexec_fn=lambda: os.umask(mask))
        assert mode("new.raw") == 0o666 & ~mask
        os.unlink("new.raw")


def test_protected():
    """As for cp: what must not be written is refused, and what can only be written in place is written in place."""
    if bound is None:
        print("not tested: outputs that permissions forbid, as root without its rights is not to be had")
        return
    put("shut.raw", b"before", 0o444)
    done = subprocess.run([*bound, tool, "transpose", "--shape", "3x4", "in.raw", "shut.raw"], capture_output=True)
    assert done.returncode == 1 and b"shut.raw: Permission denied" in done.stderr and content("shut.raw") == b"before", done
    os.mkdir("closed")
    put("closed/o.raw", b"before")
    number = os.stat("closed/o.raw").st_ino
    os.chmod("closed", 0o555)
    done = subprocess.run([*bound, tool, "transpose", "--shape", "3x4", "in.raw", "closed/o.raw"])
    assert done.returncode == 0 and content("closed/o.raw") == turned and os.stat("closed/o.raw").st_ino == number
    done = subprocess.run([*bound, tool, "transpose", "--shape", "3x4", "in.raw", "closed/new.raw"], capture_output=True)
    assert done.returncode == 1 and b"closed/new.raw: Permission denied" in done.stderr and os.listdir("closed") == ["o.raw"]
    os.chmod("closed", 0o755)


def test_several_names():
    """A hard link stays one, and a file that another is mounted on is written, as by cp."""
    put("first.raw", bytes(100))
    os.link("first.raw", "second.raw")
    written("second.raw")
    assert content("first.raw") == turned and os.path.samefile("first.raw", "second.raw")
    os.unlink("second.raw")
    put("mounted.raw", b"before")
    put("below.raw", b"below")
    script = 'mount --bind mounted.raw below.raw 2>/dev/null || exit 77; exec "$0" transpose --shape 3x4 in.raw below.raw'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, tool], capture_output=True)
    if done.returncode == 77 or b"unshare" in done.stderr:
        print("not tested: an output that another file is mounted on, as there is no right to mount")
        return
    assert done.returncode == 0 and done.stderr == b"", done
    assert content("mounted.raw") == turned and content("below.raw") == b"below"


def test_long_names():
    """Every name that a file can have, an output can have."""
    for length in (240, 241, 245, 246, 250, 255):
        name = "n" * (length - 4) + ".raw"
        for _ in "new", "old":
            written(name)
            assert content(name) == turned, length
        os.unlink(name)
    refused(": File name too long", "transpose", "--shape", "3x4", "in.raw", "n" * 256)


def test_in_place():
    """Standard output by any name, and other descriptors: what they lead to is written, no name is replaced."""
    if not os.path.exists("/dev/fd/1"):
        print("not tested: outputs that are descriptors, as /dev or /proc is bare")
        return
    os.symlink("/proc/self/fd/1", "standard")
    os.symlink("/proc/self/fd/3", "third")
    names = ["-", "/proc/self/fd/1", "/dev/fd/1", "standard", "to.raw"]
    if os.getuid() != 0:  # else a defect would replace the machine's own
        names.append("/dev/stdout")
    for name in names:
        put("to.raw", b"old")
        number = os.stat("to.raw").st_ino
        with open("to.raw", "ab") as file:
            written(name, stdout=file)
        assert content("to.raw") == b"old" + turned and os.stat("to.raw").st_ino == number, name
        done = transpose(name, stdout=subprocess.PIPE)
        assert done.returncode == 0 and done.stdout == (b"" if name == "to.raw" else turned), name
    for name in ("/dev/fd/3", "/proc/self/fd/3"):
        put("to.raw", bytes(1000))
        with open("to.raw", "rb+") as file:
            script = ["sh", "-c", '"$0" transpose --shape 3x4 in.raw "$1" 3<>to.raw', tool, name]
            assert subprocess.run(script).returncode == 0 and file.read() == turned, name
    script = ["sh", "-c", 'exec 3<>gone.raw; rm gone.raw; "$0" transpose --shape 3x4 in.raw third; cat /dev/fd/3', tool]
    assert subprocess.check_output(script) == turned
    assert os.path.islink("standard") and os.path.islink("third")
    written("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_twice():
    os.mkdir("folder")
    os.symlink("folder", "same")
    put("there.raw", b"before")
    os.symlink("there.raw", "also.raw")
    for first, second in (("x.raw", "./x.raw"), ("folder/x.raw", "same/x.raw"), ("there.raw", "also.raw"), ("-", "-"),
                          ("there.raw", os.path.abspath("there.raw")), ("/dev/null", "/dev/../dev/null")):
        refused(f"{'standard output' if second == '-' else second}: is to be written twice", "window", "--shape", "3x4",
                "in.raw", first, second)
    assert not os.path.exists("x.raw") and os.listdir("folder") == []
    refused("nodir/x.png: No such file", "window", "--shape", "3x4", "in.raw", "nodir/x.png")
    refused("nodir/: No such file", "transpose", "--shape", "3x4", "in.raw", "nodir/")
    refused(": No such file", "transpose", "--shape", "3x4", "in.raw", "")
    refused("folder: Is a directory", "transpose", "--shape", "3x4", "in.raw", "folder")
    if os.getuid() != 0:
        os.chmod("folder", 0o555)
        refused("folder/x.raw: Permission denied", "transpose", "--shape", "3x4", "in.raw", "folder/x.raw")


put("in.raw", plain)
put("bytes.raw", bytes(range(12)))
head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }".ljust(117) + b"\n"
put("bytes.npy", b"\x93NUMPY\x01\x00" + bytes([len(head), 0]) + head + bytes(range(12)))
test_leftovers()
test_links()
test_modes()
test_protected()
test_several_names()
test_long_names()
test_in_place()
test_twice()
left = [name for name in os.listdir(".") if ".tmp-" in name or ".part-" in name]
assert not left, left
