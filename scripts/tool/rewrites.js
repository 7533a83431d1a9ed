// Small changes to sources while the program is bundled. None changes what the program does; each
// keeps it from loading what it does not use.
import { readFileSync } from 'node:fs'

/** Files of packages, by the end of their path, and what stands in for them. */
const replaced = {
  // Only for a Node without web streams; asking whether it has them loads all of them.
  'node_modules/fetch-blob/streams.cjs': '',
  // The wrapper of the lock add-on is bundled, its binary is not: it is looked for in the package.
  'node_modules/fs-native-extensions/binding.js':
    "const wrapper = require.resolve('fs-native-extensions')\n"
    + "module.exports = require('require-addon')('.', wrapper)\n",
  // Files of passwords are never looked at: a connection is given all that it needs.
  'node_modules/pgpass/lib/index.js': '',
}

/**
 * What valibot does for nobody here each time it is loaded or a shape is made: a form of all emoji,
 * which asks the tables of Unicode for four properties, and a second face of each shape for other
 * libraries, which makes two objects and a function for it. Throws where a text is not found.
 */
const leanValibot = (text) => [
  [/(?<=^const EMOJI_REGEX = )(.*);$/m, '/* @__PURE__ */ (() => $1)();'],
  [/(?<=function _standardSchema\(schema\) \{)[^}]+\}[^}]+\};(?=\s+return schema;)/, ''],
].reduce((rest, [old, lean]) => {
  const changed = rest.replace(old, lean)
  if (changed === rest) throw new Error('valibot is written another way: see rewrites.js')
  return changed
}, text)

const ends = (names) =>
  new RegExp(`(${names.map((name) => name.replaceAll('/', '[\\\\/]')).join('|')})$`)

/** An esbuild plugin. */
export const rewrites = {
  name: 'rewrites',
  setup({ onResolve, onLoad }) {
    onLoad({ filter: ends(Object.keys(replaced).map((name) => name.replaceAll('.', '\\.'))) },
      ({ path }) => ({
        contents: replaced[Object.keys(replaced).find((name) => path.endsWith(name))],
      }))
    onResolve({ filter: /^fs-native-extensions$/ }, ({ path, kind }) =>
      kind === 'require-resolve' ? { path, external: true } : undefined)
    // A require that is made at run time would not be bundled.
    onLoad({ filter: /[\\/](kernel-lock|checks)\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('createRequire(import.meta.url)(', 'require('),
      loader: 'ts',
    }))
    onLoad({ filter: ends(['node_modules/valibot/dist/index\\.mjs']) }, ({ path }) => ({
      contents: leanValibot(readFileSync(path, 'utf8')),
    }))
    // commander would start other programs with it, which no command here does.
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      /node_modules.commander/.test(importer) ? { path, namespace: 'left-out' } : undefined)
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: '' }))
  },
}
