/** Where the shipped program begins. */
import { processIo } from './io.js'
import { systemDeps } from './deps.js'
import { main } from './main.js'

const io = processIo()
await io.end(await main(systemDeps(io)))
