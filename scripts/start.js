// `npm start`: installs what is missing, builds, and plays the demo: its story of one minute, or
// the scene that is named (`npm start -- all`).
import { root, run } from './tool/run.js'

await import('./build.js')
const line = [`${root}/bin/sallyport.js`, 'demo', ...process.argv.slice(2)]
const { status } = await run(process.execPath, line, { show: true })
process.exitCode = status
