/** Node's WebAssembly, whose types come with a browser's library only. */

/** Memory of a program. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** Throws `RangeError` past the program's own limit. */
  grow(pages: number): number
}

interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

const pageBytes = 65_536

/**
 * The exports of a program that is given in base64; null where this Node has no WebAssembly SIMD,
 * or was told to have none.
 */
export const wasmProgram = <T>(base64: string): T | null => {
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly?: Wasm }
  if (wasm === undefined) return null
  try {
    return new wasm.Instance(new wasm.Module(Buffer.from(base64, 'base64'))).exports as T
  } catch {
    return null
  }
}

/** Sees to it that a memory has so many bytes; its buffer may be another one afterwards. */
export const makeRoom = (memory: WasmMemory, bytes: number): void => {
  const missing = bytes - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes))
}
