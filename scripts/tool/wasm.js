// The WebAssembly of the project: text in src/images/*.wat, bytes in a module beside it, so that
// neither the bundle nor a test needs a compiler or another file.
import { readFileSync } from 'node:fs'
import wabt from 'wabt'
import { root } from './run.js'

const source = 'src/images/rows.wat'
const columns = 94

/** The generated module, by path: `[path, text]`. */
export const wasmFiles = async () => {
  const { parseWat } = await wabt()
  const module = parseWat(source, readFileSync(`${root}/${source}`, 'utf8'), { simd: true })
  module.validate()
  const { buffer } = module.toBinary({})
  module.destroy()
  const text = Buffer.from(buffer).toString('base64')
  const lines = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []
  return [[
    'src/images/rows-wasm.ts',
    `/** Bytes of rows.wat, base64; made by \`node scripts/generate.js\`. */\n`
      + `export const rowsWasm =\n${lines.map((line) => `  '${line}'`).join(' +\n')}\n`,
  ]]
}
