// How the program is bundled. Lazily imported modules become chunks of their own, so that a verb
// loads only what it uses. The chunks are then written as CommonJS: loading thirty small ES modules
// takes half as long again as an empty Node program, and that is felt at every command.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build, transform } from 'esbuild'
import { noticesOf, packagesIn } from './notices.js'
import { closureOf, packChunks } from './pack.js'
import { within } from './packs.js'
import { withPlainExports } from './plain-exports.js'
import { rewrites } from './rewrites.js'
import { root } from './run.js'

/**
 * Bundles entry points into `outdir` and removes files of earlier builds from it.
 * @param {{ entries: Record<string, string>, outdir: string, minify: boolean, maps?: boolean,
 *   packs?: Readonly<Record<string, readonly string[]>>,
 *   alone?: Readonly<Record<string, string>>, nodes?: readonly string[] }} options
 *   `entries` maps the name of an output to its source file, relative to the project. `packs` are
 *   sources whose chunks are packed into one file, by its name; see pack.js. What two packs need is
 *   in the first of them. The very first source is the one with `runCommand`. `alone` are programs
 *   of one self-contained file each, which share no chunk with anything. `maps` writes source maps
 *   beside the chunks, for coverage and tests: nothing that is shipped reads one. `nodes` are the
 *   executables whose compiled code goes along, of one V8 each.
 */
export const bundle = async (
  { entries, outdir, minify, maps = true, packs = {}, alone = {}, nodes = [process.execPath] },
) => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Some packages name an ES module only here; their UMD files cannot be bundled.
    mainFields: ['module', 'main'],
    plugins: [rewrites],
    sourcemap: 'inline',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const chunks = new Map()
  const files = new Map([['package.json', '{"type":"commonjs"}\n']])
  for (const { path, text } of outputFiles) {
    const name = basename(path)
    const { code, map } = await toCommonJs(name, text, minify)
    chunks.set(name, code)
    if (maps) files.set(`${name}.map`, map)
  }
  for (const [name, code] of chunks) {
    files.set(name, maps ? `${code}//# sourceMappingURL=${name}.map\n` : code)
  }
  const replaced = await pack(metafile, entries, packs, chunks, nodes)
  for (const [name, text] of replaced) files.set(name, text)
  const metafiles = [metafile]
  for (const [name, source] of Object.entries(alone)) {
    const one = await programAlone(source)
    files.set(`${name}.js`, one.text)
    metafiles.push(one.metafile)
  }
  files.set('licenses.txt', noticesOf(packagesIn(metafiles)))
  publish(outdir, files)
}

/**
 * A program as one file of CommonJS that needs nothing beside it. The bytes are the same in every
 * form of the build: an approval names their digest, whichever form runs what was approved.
 */
const programAlone = async (source) => {
  const { outputFiles: [file], metafile } = await build({
    absWorkingDir: root,
    entryPoints: [source],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    minify: true,
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  return { text: file.text, metafile }
}

const pack = async (metafile, entries, packs, chunks, nodes) => {
  const [source] = Object.values(packs).flat()
  if (source === undefined) return []
  // What the entry itself needs stays as it is: the version is answered without the rest.
  const taken = closureOf(metafile, Object.keys(entries)
    .filter((name) => !within.includes(name)).map((name) => entries[name]))
  const named = {}
  for (const [name, sources] of Object.entries(packs)) {
    named[name] = [...closureOf(metafile, sources)].filter((chunk) => !taken.has(chunk)).sort()
    for (const chunk of named[name]) taken.add(chunk)
  }
  const { outputs } = metafile
  const run = Object.keys(outputs).find((path) => outputs[path].entryPoint === source)
  const start = [...closureOf(metafile, [entries.sallyport])].sort()
  return packChunks(chunks, named, start, basename(run), nodes)
}

const url = 'const sallyportUrl=require("node:url").pathToFileURL(__filename).href;'

const toCommonJs = (name, text, minify) =>
  transform(withPlainExports(text), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'sallyportUrl' },
    banner: text.includes('import.meta.url') ? url : '',
    minify,
    sourcemap: 'external',
    sourcefile: name,
    logLevel: 'silent',
  })

/** Writes every file, then removes what an earlier build left. */
const publish = (outdir, files) => {
  mkdirSync(outdir, { recursive: true })
  for (const [name, text] of files) {
    // A program that starts while this runs must not see half a file.
    const temp = `${outdir}/${name}.${process.pid}.tmp`
    writeFileSync(temp, text)
    renameSync(temp, `${outdir}/${name}`)
  }
  for (const name of readdirSync(outdir)) {
    if (!files.has(name)) rmSync(`${outdir}/${name}`, { recursive: true, force: true })
  }
}
