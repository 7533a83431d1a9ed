/** A bridge of TCP: whatever comes to one port of loopback goes on to another, byte by byte. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Teardown } from '../../world/place.js'

/** The bridge. */
export interface Bridge {
  readonly port: number
  /** Connections that came. */
  readonly count: () => number
  /** Where they go on to; before that they end. */
  leadTo(port: number): void
}

/** Opens one; it ends with the test, or at once where its port is for somebody else. */
export const openBridge = async (
  t: Teardown, { held = true }: { readonly held?: boolean } = {},
): Promise<Bridge> => {
  let [to, count] = [0, 0]
  const open = new Set<Socket>()
  const kept = (socket: Socket): Socket => {
    open.add(socket)
    return socket.on('error', () => undefined).on('close', () => open.delete(socket))
  }
  const server = createServer((from) => {
    count += 1
    kept(from)
    if (to === 0) return void from.destroy()
    const there = kept(connect({ host: '127.0.0.1', port: to }))
    from.pipe(there).on('close', () => from.destroy())
    there.pipe(from).on('close', () => there.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  if (!held) await new Promise((resolve) => server.close(resolve))
  return { port, count: () => count, leadTo: (port) => void (to = port) }
}
