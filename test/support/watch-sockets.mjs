// Preloaded into a process with `--import`: writes to the file SOCKETS_SEEN_FILE, at the end of the
// process, the kinds of native network handles and look-ups that were ever made in it. Whatever
// module, bundle or dependency opens a socket, Node makes one of these for it.
import { createHook } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'

const network = new Set([
  'TCPWRAP', 'TCPCONNECTWRAP', 'TCPSERVERWRAP', 'TLSWRAP', 'UDPWRAP', 'UDPSENDWRAP',
  'PIPECONNECTWRAP', 'PIPESERVERWRAP', 'GETADDRINFOREQWRAP', 'GETNAMEINFOREQWRAP', 'QUERYWRAP',
])
const seen = new Set()
createHook({
  init(_id, type) {
    if (network.has(type)) seen.add(type)
  },
}).enable()
process.on('exit', () => {
  writeFileSync(process.env.SOCKETS_SEEN_FILE, JSON.stringify([...seen].sort()))
})
