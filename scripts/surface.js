// `node scripts/surface.js [--names]`: how many verbs and flags help shows, and how many older
// names of them are taken besides. `--names` lists them.
import { compileTree, treeDir } from './tool/tree.js'

await compileTree()
const { describingDeps } = await import(`${treeDir}/src/cli/describing.js`)
const { describeNouns, describeOlder, describeTree } = await import(`${treeDir}/src/cli/tree.js`)

const deps = describingDeps()
const [verbs, older] = await Promise.all([describeTree(deps), describeOlder(deps)])
const sorted = (names) => [...new Set(names)].sort()
const flags = sorted(verbs.flatMap((one) => one.flags.map(({ long }) => long)))
  .filter((long) => long !== '--help')
const olderFlags = sorted([...verbs, ...older].flatMap((one) =>
  one.olderFlags.map(({ long }) => long)))
const counted = [
  ['verbs', verbs.map(({ meta }) => meta.name)],
  ['nouns', describeNouns(deps).map(({ noun }) => noun)],
  ['flags of verbs', flags],
  ['older names of verbs', older.map(({ meta }) => meta.name)],
  ['older names of flags', olderFlags],
]
for (const [what, names] of counted) {
  console.log(`${what}: ${names.length}`)
  if (process.argv.includes('--names')) console.log(names.map((name) => `  ${name}`).join('\n'))
}
