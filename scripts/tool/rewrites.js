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
}

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
    // commander would start other programs with it, which no command here does.
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      /node_modules.commander/.test(importer) ? { path, namespace: 'left-out' } : undefined)
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: '' }))
  },
}
