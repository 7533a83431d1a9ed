/** Where the shipped program begins. */
import { processIo } from './io.js'
import { systemDeps } from './deps.js'
import { main } from './main.js'

const io = processIo()
// No top-level await: the shipped bundle is CommonJS, which starts faster.
void main(systemDeps(io)).then(io.end)
