import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderFiles } from '../../../src/sandbox/folder.js'
import { freePort } from '../ports.js'

/** A folder whose sandbox comes back at ports that no other process is given meanwhile. */
export const lowPorts = async (dir: string): Promise<void> => {
  const [provider, gateway, codehost, control] =
    [await freePort(), await freePort(), await freePort(), await freePort()]
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, folderFiles.settings), JSON.stringify({
    schema: 'sallyport.sandbox.v1', token: 'a token of a test, of some length',
    ports: { provider, gateway, codehost, control },
  }), { mode: 0o600 })
}
