/**
 * Ports of servers that need a number before they start, or come back at the one that they had:
 * below those that a system gives to whoever asks for any.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const [lowestPort, ports] = [18_000, 14_000]
const triesMax = 20

/** A port of loopback that nobody has now. */
export const freePort = async (): Promise<number> => {
  for (let tries = 1; ; tries += 1) {
    const port = lowestPort + randomInt(ports)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch (error) {
      if (tries >= triesMax) throw error
    }
  }
}

const isTaken = (error: unknown): boolean =>
  /Address already in use|EADDRINUSE|port_taken/.test(String(error))

/**
 * Starts something at a port that it may keep: another process may take one between the look and
 * the start, then it is tried at another one.
 */
export const startAtPort = async <T>(
  start: (port: number) => T | Promise<T>,
): Promise<[port: number, started: T]> => {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    try {
      return [port, await start(port)]
    } catch (error) {
      if (tries >= triesMax || !isTaken(error)) throw error
    }
  }
}
