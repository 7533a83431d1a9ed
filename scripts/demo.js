// `npm run demo -- SCENE`: plays a scene that needs what only a development install has. Without a
// name, or with that of another scene, it says which there are; the others are `sallyport demo`'s.
// shared: two machines, one PostgreSQL server over TLS, one ceiling, one revoke.
import { installMissing } from './tool/install.js'
import { root } from './tool/run.js'

/** Scenes, by the modules that play them. */
const scenes = { shared: 'test/support/demo/shared.js' }

const [name = ''] = process.argv.slice(2)
if (!Object.hasOwn(scenes, name)) {
  console.error(`Which scene? npm run demo -- ${Object.keys(scenes).join(', ')}`)
  console.error('The scenes that need no server: sallyport demo --help')
  process.exit(2)
}
await installMissing()
await import('./build.js')
const { compileTree, treeDir } = await import('./tool/tree.js')
for (const problem of await compileTree()) console.error(`does not compile: ${problem}`)
process.env.SALLYPORT_TEST_PACKED = `${root}/dist`

const { play } = await import(`${treeDir}/${scenes[name]}`)
const ends = []
try {
  await play({ teardown: (end) => void ends.push(end) }, (text) => process.stdout.write(text))
} finally {
  for (const end of ends.reverse()) await end()
}
