#!/usr/bin/python3
"""A file system that passes everything on to a folder: `storage.py FOLDER MOUNTPOINT`.

Stopped (SIGSTOP), it leaves whoever uses it waiting in the kernel, as storage does whose server
is gone.
"""

import errno
import os
import sys

import fusepy as fuse


class Passed(fuse.Operations):
    """Every operation on the same file below `root`."""

    def __init__(self, root):
        self._root = os.open(root, os.O_PATH)

    def __call__(self, operation, path, *arguments):
        return super().__call__(operation, f"/proc/self/fd/{self._root}{path}", *arguments)

    def getattr(self, path, fh=None):
        status = os.lstat(path)
        return {
            name: getattr(status, name)
            for name in (
                "st_atime",
                "st_ctime",
                "st_gid",
                "st_mode",
                "st_mtime",
                "st_nlink",
                "st_size",
                "st_uid",
                "st_blocks",
            )
        }

    def access(self, path, mode):
        if not os.access(path, mode):
            raise fuse.FuseOSError(errno.EACCES)

    def readdir(self, path, _handle):
        return [".", ".."] + os.listdir(path)

    def open(self, path, flags):
        return os.open(path, flags)

    def create(self, path, mode, fi=None):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    def read(self, path, size, offset, handle):
        return os.pread(handle, size, offset)

    def write(self, path, data, offset, handle):
        return os.pwrite(handle, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(path, length)

    def flush(self, path, handle):
        return 0

    def fsync(self, path, datasync, handle):
        os.fsync(handle)

    def release(self, path, handle):
        os.close(handle)

    def rename(self, old, new):
        os.rename(old, f"/proc/self/fd/{self._root}{new}")

    def mkdir(self, path, mode):
        os.mkdir(path, mode)

    rmdir = staticmethod(os.rmdir)
    unlink = staticmethod(os.unlink)
    chmod = staticmethod(os.chmod)
    chown = staticmethod(os.chown)
    readlink = staticmethod(os.readlink)

    def symlink(self, target, source):
        os.symlink(source, target)

    def link(self, target, source):
        os.link(f"/proc/self/fd/{self._root}{source}", target)

    def utimens(self, path, times=None):
        os.utime(path, times)

    def statfs(self, path):
        status = os.statvfs(path)
        return {
            name: getattr(status, name)
            for name in (
                "f_bavail",
                "f_bfree",
                "f_blocks",
                "f_bsize",
                "f_favail",
                "f_ffree",
                "f_files",
                "f_frsize",
                "f_namemax",
            )
        }


if __name__ == "__main__":
    fuse.FUSE(Passed(sys.argv[1]), sys.argv[2], foreground=True, nothreads=False)
