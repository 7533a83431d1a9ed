// How the program is bundled: lazily imported modules become chunks of their own, so that a verb
// loads only what it uses.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'
import { root } from './run.js'

// Bundled CommonJS parts call `require`, which an ES module does not have.
const banner =
  "import{createRequire as sallyportRequire}from'node:module';" +
  'const require=sallyportRequire(import.meta.url);'

/**
 * Bundles entry points into `outdir` and removes chunks of earlier builds from it.
 * @param {{ entries: Record<string, string>, outdir: string, minify: boolean }} options
 *   `entries` maps the name of an output to its source file, relative to the project.
 * @returns {Promise<readonly string[]>} the bundled source files, relative to the project
 */
export const bundle = async ({ entries, outdir, minify }) => {
  mkdirSync(outdir, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A native add-on finds its binary beside its own package.
    external: ['fs-native-extensions'],
    // Some packages name an ES module only here; their UMD files cannot be bundled.
    mainFields: ['module', 'main'],
    banner: { js: banner },
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: minify,
    minifySyntax: minify,
    keepNames: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  const written = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
  for (const name of readdirSync(outdir)) {
    if (!written.has(name)) rmSync(`${outdir}/${name}`, { recursive: true })
  }
  return Object.keys(metafile.inputs)
}
