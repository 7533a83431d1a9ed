// `npm start`: installs what is missing, builds, and shows the whole tool at work.
import { root, run } from './tool/run.js'

await import('./build.js')
const { status } = await run(process.execPath, [`${root}/bin/sallyport.js`, 'demo'], { show: true })
process.exitCode = status
