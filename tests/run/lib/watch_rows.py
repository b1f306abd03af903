"""Rows of watch.py: ways of changing and reading files of a workspace.

A row of WRITES: name, shell command, the edits that it must leave as {path: [lines, ...]} ("12-14", "gone"
when the record has no lines), and the program that it needs. Files that are not named may change too (an
editor's own); every record is checked against its images all the same. Lines are those of the new
contents; a deletion is named by the line behind it. src/data.txt holds 200 lines of 9 bytes."""

PY = "/usr/bin/python3 -c "

CREATE = "import os; "
EXCHANGE = (PY + "'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"src/data.txt\", -100, "
            "b\"src/other.txt\", 2)'")
MMAP_C = r"""
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	int fd = open("src/data.txt", O_RDWR);
	char *p = mmap(NULL, 1800, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED || memcpy(p + 9 * 32, "LINE", 4) == NULL;
}
"""

WRITES = [
    ("sed -i", "sed -i 's/line 056/LINE 056/' src/data.txt", {"src/data.txt": ["56-56"]}),
    ("sed -i over two places", "sed -i -e 's/line 010/X/' -e '150d' src/data.txt",
     {"src/data.txt": ["10-150"]}),
    ("python write", PY + "'p=\"src/data.txt\"; t=open(p).read(); "
     "open(p,\"w\").write(t.replace(\"line 077\",\"seven\\nseventy\"))'", {"src/data.txt": ["77-78"]}),
    ("python r+", PY + "'f=open(\"src/data.txt\",\"r+b\"); f.seek(9*19); f.write(b\"LINE 020\\nLINE\"); f.close()'",
     {"src/data.txt": ["20-21"]}),
    ("the same bytes again", PY + "'t=open(\"src/data.txt\").read(); open(\"src/data.txt\",\"w\").write(t)'",
     {"src/data.txt": []}),
    ("mv over", "sed 's/line 059/LINE 059/' </tmp/orig/data.txt >src/n; mv src/n src/data.txt",
     {"src/data.txt": ["59-59"], "src/n": ["1-200", "gone"]}),
    ("mv from another file system", "sed 's/line 061/LINE 061/' </tmp/orig/data.txt >/tmp/n; mv /tmp/n src/data.txt",
     {"src/data.txt": ["gone", "61-61"]}),
    (">>", "echo more >>src/data.txt", {"src/data.txt": ["201-201"]}),
    (">", "sed 's/line 050/LINE 050/' </tmp/orig/data.txt >src/data.txt", {"src/data.txt": ["50-50"]}),
    ("truncate", "truncate -s 460 src/data.txt", {"src/data.txt": ["52-52"]}),
    ("truncate(2)", PY + "'import os; os.truncate(\"src/data.txt\", 900)'", {"src/data.txt": ["100-100"]}),
    ("git checkout", "sed -i 's/line 057/LINE 057/' src/data.txt; " + PY +
     "'import os; os.utime(\"src/data.txt\",(1,1))'; git checkout -q -- src/data.txt",
     {"src/data.txt": ["57-57", "gone", "57-57"]}),
    ("git stash and pop", "sed -i 's/line 058/LINE 058/' src/data.txt; git -c user.name=a "
     "-c user.email=b stash -q; git -c user.name=a -c user.email=b stash pop -q",
     {"src/data.txt": ["58-58", "gone", "58-58", "gone", "58-58"]}),
    ("patch", "printf -- '--- src/data.txt\\n+++ src/data.txt\\n@@ -99,3 +99,4 @@\\n line 099\\n-line 100\\n"
     "+hundred\\n+and more\\n line 101\\n' | patch -s -p0", {"src/data.txt": ["100-101"]}, "patch"),
    ("git apply", "printf -- '--- a/src/data.txt\\n+++ b/src/data.txt\\n@@ -99,3 +99,2 @@\\n line 099\\n"
     "-line 100\\n line 101\\n' | git apply", {"src/data.txt": ["gone", "100-100"]}),
    ("tee", "sed 's/line 060/LINE 060/' </tmp/orig/data.txt | tee src/data.txt", {"src/data.txt": ["60-60"]}),
    ("tee -a by two", "printf 'a\\n' | tee -a src/data.txt src/other.txt",
     {"src/data.txt": ["201-201"], "src/other.txt": ["2-2"]}),
    ("swap and backup files of an editor", PY + "'import os\nt=open(\"src/data.txt\").read()\n"
     "s=open(\"src/.data.swp\",\"w\"); s.write(t); s.flush()\n"
     "os.rename(\"src/data.txt\",\"src/data.txt~\")\n"
     "f=open(\"src/data.txt\",\"w\"); f.write(t.replace(\"line 044\",\"LINE 044\")); f.close()\n"
     "os.unlink(\"src/data.txt~\"); s.close(); os.unlink(\"src/.data.swp\")'",
     {"src/data.txt": ["gone", "44-44"], "src/data.txt~": ["1-200", "gone"]}),
    ("vim", "vim.tiny -u NONE -es -c '%s/line 045/LINE 045/' -c wq src/data.txt",
     {"src/data.txt": None}, "vim.tiny"),
    ("delete and create again", "rm src/data.txt; sed 's/line 011/LINE 011/' </tmp/orig/data.txt >src/data.txt",
     {"src/data.txt": ["gone", "11-11"]}),
    ("delete", "rm src/data.txt", {"src/data.txt": ["gone"]}),
    ("a new file", "mkdir -p src/deep/er; printf 'a\\nb\\n' >src/deep/er/new.txt", {"src/deep/er/new.txt": ["1-2"]}),
    ("a new empty file", "touch src/empty.txt", {"src/empty.txt": ["gone"]}),
    ("made without O_EXCL, closed, filled later", ": >src/late.txt; echo x >>src/late.txt; echo y >>src/late.txt",
     {"src/late.txt": ["gone", "1-1", "2-2"]}),
    ("two writers at once", PY + "'import os,time\nr,w=os.pipe()\np=os.fork()\nif p==0:\n"
     " f=os.open(\"src/data.txt\",os.O_WRONLY); os.read(r,1); os.pwrite(f,b\"LINE\",9*29); os._exit(0)\n"
     "f=os.open(\"src/data.txt\",os.O_WRONLY); os.pwrite(f,b\"LINE\",9*9); os.write(w,b\"x\"); "
     "os.waitpid(p,0); os.pwrite(f,b\"LINE\",9*39)'", {"src/data.txt": None}),
    ("two strangers write in turn", PY + "'import os,subprocess\n"
     "p=subprocess.Popen([\"/usr/bin/python3\",\"-c\",\"import os,sys; f=os.open(chr(115)+\\\"rc/data.txt\\\",1); "
     "print(flush=True); sys.stdin.readline(); os.pwrite(f,b\\\"LINE\\\",9*69)\"],stdin=-1,stdout=-1)\n"
     "p.stdout.readline(); f=os.open(\"src/data.txt\",1); os.pwrite(f,b\"LINE\",9*79); os.close(f)\n"
     "p.communicate(b\"x\\n\")'", {"src/data.txt": None}),
    ("node writeFileSync", "node -e 'const fs=require(\"fs\"); const p=\"src/data.txt\"; "
     "fs.writeFileSync(p, fs.readFileSync(p,\"utf8\").replace(\"line 123\",\"LINE 123\"))'",
     {"src/data.txt": ["123-123"]}, "node"),
    ("node promises", "node -e 'const fs=require(\"fs\"); const p=\"src/data.txt\"; "
     "fs.promises.readFile(p,\"utf8\").then(t => fs.promises.writeFile(p, t.replace(\"line 124\",\"LINE 124\")))'",
     {"src/data.txt": ["124-124"]}, "node"),
    ("C and mmap, never unmapped", "/workspace/bin/mmapped", {"src/data.txt": ["33-33"]}, "cc"),
    ("python mmap, descriptor closed first", PY + "'import mmap,os; f=os.open(\"src/data.txt\",2); "
     "m=mmap.mmap(f,0); os.close(f); m[9*52:9*52+4]=b\"XXXX\"; m.close()'", {"src/data.txt": ["53-53"]}),
    ("O_TRUNC while another descriptor is open", PY + "'import os; f=os.open(\"src/data.txt\",2); "
     "g=os.open(\"src/data.txt\",os.O_WRONLY|os.O_TRUNC); os.close(g); os.pwrite(f,b\"only\\n\",0)'",
     {"src/data.txt": None}),
    ("O_RDONLY with O_TRUNC", PY + "'import os; os.open(\"src/data.txt\",os.O_RDONLY|os.O_TRUNC)'",
     {"src/data.txt": ["gone"]}),
    ("ftruncate and grow", PY + "'f=open(\"src/data.txt\",\"r+b\"); f.truncate(0); f.seek(0); f.write(b\"a\\n\"); f.close()'",
     {"src/data.txt": ["1-1"]}),
    ("sendfile into it", PY + "'import os; f=os.open(\"src/other.txt\",0); o=os.open(\"src/data.txt\",1); "
     "os.sendfile(o,f,0,4)'", {"src/data.txt": ["1-2"]}),
    ("copy_file_range into it", PY + "'import os; f=os.open(\"src/other.txt\",0); "
     "o=os.open(\"src/data.txt\",1); os.copy_file_range(f,o,4,0,9*29)'", {"src/data.txt": ["30-31"]}),
    ("cp", "sed 's/line 058/LINE 058/' </tmp/orig/data.txt >/tmp/n; cp /tmp/n src/data.txt",
     {"src/data.txt": ["58-58"]}),
    ("through a symbolic link", "sed 's/line 062/LINE 062/' </tmp/orig/data.txt >link.txt",
     {"src/data.txt": ["62-62"]}),
    ("through a link to the workspace", "ln -s /workspace/src /tmp/ws; sed 's/line 063/LINE 063/' "
     "</tmp/orig/data.txt >/tmp/ws/data.txt", {"src/data.txt": ["63-63"]}),
    ("through a hard link", "ln src/data.txt hard; sed 's/line 064/LINE 064/' </tmp/orig/data.txt >hard; rm hard",
     {"src/data.txt": ["64-64"], "hard": ["1-200", "64-64", "gone"]}),
    ("through /proc/self/fd", PY + "'import os; f=os.open(\"src/data.txt\",os.O_PATH); "
     "g=os.open(f\"/proc/self/fd/{f}\",os.O_WRONLY|os.O_TRUNC); os.write(g,b\"1\\n\")'", {"src/data.txt": None}),
    ("through /proc/self/cwd", PY + "'f=open(\"/proc/self/cwd/src/data.txt\",\"w\"); f.write(\"1\\n\"); f.close(); "
     "import os; os.truncate(\"/proc/thread-self/cwd/src/other.txt\", 2)'",
     {"src/data.txt": ["1-1"], "src/other.txt": ["1-1"]}),
    ("removed through /proc/self/cwd", PY + "'import os; os.unlink(\"/proc/self/cwd/src/data.txt\")'",
     {"src/data.txt": ["gone"]}),
    ("below /dev/fd", PY + "'import os; d=os.open(\"src\",0); "
     "os.rename(\"src/other.txt\",f\"/dev/fd/{d}/data.txt\"); f=open(f\"/dev/fd/{d}/data.txt\",\"a\"); "
     "f.write(\"more\\n\"); f.close()'", {"src/data.txt": ["1-1", "2-2"], "src/other.txt": ["gone"]}),
    ("made without a name", PY + "'import os,ctypes; f=os.open(\"src\",os.O_TMPFILE|os.O_RDWR); os.write(f,b\"T\\n\"); "
     "ctypes.CDLL(None).linkat(-100,b\"/proc/self/fd/%d\"%f,-100,b\"src/named.txt\",0x400); os.close(f)'",
     {"src/named.txt": ["1-1"]}),
    ("relative to a directory", PY + "'import os; d=os.open(\"src\",0); f=os.open(\"data.txt\",1,dir_fd=d); "
     "os.pwrite(f,b\"LINE\",9*64)'", {"src/data.txt": ["65-65"]}),
    ("from another directory", "cd src && sed -i 's/line 066/LINE 066/' ../src/data.txt",
     {"src/data.txt": ["66-66"]}),
    ("renamed while it is open", PY + "'import os; f=open(\"src/t\",\"w\"); f.write(\"one\\n\"); f.flush(); "
     "os.rename(\"src/t\",\"src/data.txt\"); f.write(\"two\\n\"); f.close()'", {"src/data.txt": ["1-1", "2-2"], "src/t": []}),
    ("unlinked while it is open", PY + "'import os; f=open(\"src/data.txt\",\"r+\"); os.unlink(\"src/data.txt\"); "
     "f.write(\"nobody sees\"); f.close()'", {"src/data.txt": ["gone"]}),
    ("exchanged with another", EXCHANGE, {"src/data.txt": ["1-1"], "src/other.txt": ["1-200"]}),
    ("a directory renamed", "mv src lib2; mv lib2 src", {"src/data.txt": ["gone", None],
                                                          "lib2/data.txt": ["1-200", "gone"]}),
    ("a directory removed", "rm -r lib", {"lib/a.txt": ["gone"], "lib/sub/b.txt": ["gone"]}),
    ("a directory moved in", "mkdir /tmp/in; echo x >/tmp/in/f; mv /tmp/in src/in", {"src/in/f": ["1-1"]}),
    ("inherited by a child", PY + "'import os,subprocess; f=os.open(\"src/data.txt\",os.O_WRONLY); "
     "subprocess.run([\"printf\",\"LINE\"],stdout=f)'", {"src/data.txt": ["1-1"]}),
    ("a thread writes", PY + "'import os,threading; f=os.open(\"src/data.txt\",1); "
     "t=threading.Thread(target=lambda: os.pwrite(f,b\"LINE\",9*66)); t.start(); t.join()'",
     {"src/data.txt": ["67-67"]}),
    ("by a formatter of many files", PY + "'import glob\nfor i in range(30): open(f\"many/{i:02}.txt\").read()\n"
     "open(\"many/29.txt\",\"w\").write(\"formatted\\n\")'", {"many/29.txt": ["1-1"]}),
    ("what .gitignore excludes", "mkdir -p build; echo x >build/o; echo x >a.tmp", {"build/o": [], "a.tmp": []}),
    ("what git keeps for itself", "git -c user.name=a -c user.email=b commit -q --allow-empty -m x", {".git/HEAD": []}),
    ("outside the workspace", "echo x >/tmp/elsewhere", {"elsewhere": []}),
    ("mode only", "chmod 755 src/data.txt; chmod 644 src/data.txt", {"src/data.txt": []}),
]

# name, command, reads as {path: [(lines, shown, scan)]}: lines "1-200", shown or None, is it a scan
READS = [
    ("cat", "cat src/data.txt", {"src/data.txt": [("1-200", "1-200", False)]}),
    ("sed -n", "sed -n 5,9p src/data.txt", {"src/data.txt": [("1-200", "5-9", False)]}),
    ("cat -n and sed -n", "cat -n src/data.txt | sed -n '20,24p'", {"src/data.txt": [("1-200", "20-24", False)]}),
    ("tail", "tail -n 3 src/data.txt", {"src/data.txt": [("*", "198-200", False)]}),
    ("head -c", "head -c 40 src/data.txt", {"src/data.txt": [("1-5", None, False)]}),
    ("pread", PY + "'import os; f=os.open(\"src/data.txt\",0); os.pread(f,10,9*50)'",
     {"src/data.txt": [("51-52", None, False)]}),
    ("mmap", PY + "'import mmap; f=open(\"src/data.txt\",\"rb\"); "
     "m=mmap.mmap(f.fileno(),0,access=mmap.ACCESS_READ); print(m[450])'", {"src/data.txt": [("1-200", None, False)]}),
    ("lines as they are then", "sed -i 1,100d src/data.txt; cat src/data.txt", {"src/data.txt": [("*", None, True)]}),
    ("grep on one file", "grep -n 'line 055' src/data.txt", {"src/data.txt": [("1-200", None, False)]}),
    ("grep -r", "grep -rn 'line 055' .", {"src/data.txt": []}),
    ("git status", PY + "'import os; os.utime(\"many/01.txt\")'; git status --short", {"many/01.txt": []}),
    ("many files by one program", PY + "'for i in range(30): open(f\"many/{i:02}.txt\").read()'",
     {"many/03.txt": [("1-1", None, False)], "many/29.txt": []}),
]
