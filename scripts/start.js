// `npm start`: installs what is missing, builds, and plays the demo: its story of one minute, or
// the scene that is named (`npm start -- all`).
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root, run } from './tool/run.js'

console.log('Building …')
await import('./build.js')
const program = `${root}/bin/sallyport.js`
const { status } = await run(process.execPath, [program, 'demo', ...process.argv.slice(2)], {
  show: true,
})
const isOnPath = (process.env.PATH ?? '').split(delimiter)
  .some((dir) => existsSync(join(dir, 'sallyport')))
if (status === 0 && !isOnPath) {
  console.log(`So that a shell knows \`sallyport\`:\n    alias sallyport="node ${program}"\n`)
}
process.exitCode = status
