// The WebAssembly of the project: text in src/images/*.wat, bytes in a module beside it, so that
// neither the bundle nor a test needs a compiler or another file.
import { readFileSync } from 'node:fs'
import wabt from 'wabt'
import { root } from './run.js'

const names = ['huffman', 'rows']
const columns = 94

const moduleOf = (parseWat, name) => {
  const source = `src/images/${name}.wat`
  const module = parseWat(source, readFileSync(`${root}/${source}`, 'utf8'), { simd: true })
  module.validate()
  const { buffer } = module.toBinary({})
  module.destroy()
  const text = Buffer.from(buffer).toString('base64')
  const lines = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []
  return [
    `src/images/${name}-wasm.ts`,
    `/** Bytes of ${name}.wat, base64; made by \`node scripts/generate.js\`. */\n`
      + `export const ${name}Wasm =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`,
  ]
}

/** The generated modules, by path: `[path, text]` each. */
export const wasmFiles = async () => {
  const { parseWat } = await wabt()
  return names.map((name) => moduleOf(parseWat, name))
}
