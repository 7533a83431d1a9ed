/** The way of one machine to the server of its state. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** From now on everything that a machine runs goes by another port of loopback. */
export const goBy = (
  { place }: { readonly place: { readonly configDir: string } },
  { port }: { readonly port: number },
): void => {
  const keys = join(place.configDir, 'keys')
  for (const name of readdirSync(keys).filter((one) => one.endsWith('.place'))) {
    const file = join(keys, name)
    const said = JSON.parse(readFileSync(file, 'utf8')) as { address: string }
    const address = new URL(said.address)
    address.port = String(port)
    writeFileSync(file, JSON.stringify({ ...said, address: address.href }))
  }
}
