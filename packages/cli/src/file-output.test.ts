import { describe, expect, it } from "vitest";
import { createFileOutput } from "./process-io.ts";

/** A disk with room for some bytes. */
function useDisk(): {
  room: number;
  text: string;
  write: (descriptor: number, bytes: Uint8Array, offset: number) => number;
} {
  const disk = {
    room: 0,
    text: "",
    write: (_: number, bytes: Uint8Array, offset: number): number => {
      if (disk.room === 0) throw new Error("ENOSPC");
      const part = bytes.subarray(offset, offset + disk.room);
      disk.room -= part.length;
      disk.text += Buffer.from(part).toString();
      return part.length;
    },
  };
  return disk;
}

describe("createFileOutput()", () => {
  it("begins a new line after a disk has filled in the middle of one", () => {
    const disk = useDisk();
    const output = createFileOutput(1, disk.write);
    disk.room = 3;
    expect(() => {
      output.write("first\n");
    }).toThrow("ENOSPC");
    expect(() => {
      output.write("second\n");
    }).toThrow("ENOSPC");
    disk.room = 100;
    output.write("third\n");
    output.write("fourth\n");
    expect(disk.text).toBe("fir\nthird\nfourth\n");
  });

  it("leaves no empty line where a disk has filled between two lines", () => {
    const disk = useDisk();
    const output = createFileOutput(1, disk.write);
    disk.room = 2;
    expect(() => {
      output.write("a\nb\n");
    }).toThrow("ENOSPC");
    disk.room = 100;
    output.write("c\n");
    expect(disk.text).toBe("a\nc\n");
  });
});
