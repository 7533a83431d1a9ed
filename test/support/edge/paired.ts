/** A device that is paired with a service of the test, at a place of its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../must.js'
import type { Place, Ran, RunOptions } from '../../world/place.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { pictureOf } from './device.js'
import { startOrigin } from './origin.js'
import type { TestOrigin } from './origin.js'

/** One line of the daemon. */
export interface Line {
  readonly event: string
  readonly request_id: string | null
  readonly sequence: number | null
  readonly artifact_id: string | null
  readonly reason: string | null
  readonly wait_ms: number | null
  readonly eviction: { readonly reason: string; readonly request_id: string } | null
}

/** Lines of what a daemon printed. */
export const linesOf = ({ stdout }: Ran): Line[] =>
  stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Line)

/** The device. */
export interface PairedDevice {
  readonly place: Place
  readonly service: TestOrigin
  /** Captures a picture that differs with its number; gives its request id. */
  capture(number: number, ...flags: string[]): Promise<string>
  /** Sends what waits and ends. */
  once(...flags: string[]): Promise<Ran>
  /** Runs a daemon in this process until the holder says so, then gives what it printed. */
  running(until: () => Promise<void>, options?: RunOptions): Promise<Ran>
  /** Redeems a new pairing string. */
  pair(): Promise<Ran>
  settings(value: object): void
  pairing(): {
    device_id: string; credential: string; origin: string; ended_at: string | null
  }
}

/** Makes a device; paired unless said. */
export const deviceOf = async (
  t: Teardown, { paired = true, settings = {} }: { paired?: boolean; settings?: object } = {},
): Promise<PairedDevice> => {
  const { place } = await World.in(t)
  const service = await startOrigin(t)
  mkdirSync(place.edgeDir, { mode: 0o700 })
  const device: PairedDevice = {
    place, service,
    async capture(number, ...flags) {
      const file = place.write(`shot-${number}.png`, pictureOf(number))
      return must(await place.run(['edge', 'capture', file, ...flags, '--json'])).json().request_id
    },
    once: (...flags) => place.run(['edge', 'daemon', '--once', '--json', ...flags]),
    async running(until, options = {}) {
      const stop = new AbortController()
      const ran = place.run(['edge', 'daemon', '--json'], { ...options, stop: stop.signal })
      try {
        await until()
      } finally {
        stop.abort()
      }
      return ran
    },
    pair: () => place.run(['edge', 'daemon', '--once', '--json', '--pair-file', '-'], {
      stdin: `${service.pairingString()}\n`,
    }),
    settings: (value) => writeFileSync(join(place.edgeDir, 'settings.json'), JSON.stringify(value),
      { mode: 0o600 }),
    pairing: () => JSON.parse(readFileSync(join(place.edgeDir, 'pairing.json'), 'utf8')),
  }
  device.settings({ retry: { first_ms: 100, most_ms: 400 }, ...settings })
  if (paired) must(await device.pair())
  service.requests.length = 0
  return device
}
