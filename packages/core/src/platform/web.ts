/**
 * Text, bytes and turns of the event loop with what browsers have; `node.ts` exports the same
 * functions for Node, and their descriptions.
 *
 * @packageDocumentation
 */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

export function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A pair has two units and four bytes; a surrogate without its pair becomes U+FFFD.
    if (isPair(text, i)) i++;
    length += unit < 0x800 ? 1 : 2;
  }
  return length;
}

function isPair(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  return point !== undefined && point > 0xffff;
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

export function writeText(target: Uint8Array, at: number, text: string, length: number): void {
  encoder.encodeInto(text, target.subarray(at, at + length));
}

export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end));
}

export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  try {
    strictDecoder.decode(bytes.subarray(start, end));
    return true;
  } catch {
    return false;
  }
}

export function decodeLatin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

// A parser creates a string of its own, and JSON has a form for halves of pairs too.
export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function copyBytes(bytes: Uint8Array): Uint8Array {
  return bytes.slice();
}

export function allocateBytes(length: number): Uint8Array {
  return new Uint8Array(length);
}

export function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => {
    clearTimeout(timer);
  };
}

const waiting: (() => void)[] = [];
let channel: InstanceType<typeof MessageChannel> | undefined;

// `setTimeout` would wait for 4 ms in a browser that is called again and again.
export function nextTurn(callback: () => void): void {
  if (channel === undefined) {
    channel = new MessageChannel();
    channel.port1.addEventListener("message", () => waiting.shift()?.());
    channel.port1.start();
  }
  waiting.push(callback);
  channel.port2.postMessage(undefined);
}
