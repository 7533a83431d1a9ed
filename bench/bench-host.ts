/** Work of a bench in a process of its own, beside a host in memory in another one. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a host in memory is. */
export interface BenchHost {
  readonly base: string
  readonly caFile: string
  readonly profileFile: string
}

const memoryHost = JSON.stringify(new URL('./memory-host.js', import.meta.url).href)

/**
 * What `work`, an export of the module at `url`, answers as JSON in a process of its own; it is
 * handed profile, base URL and CA of its host, and `args`. `below`: where its folder is made.
 */
export const besideHost = async <T>(
  below: string, url: string, work: string, args: readonly string[],
): Promise<T> => {
  const dir = mkdtempSync(join(below, 'host-'))
  const [served, program] = [join(dir, 'host.mjs'), join(dir, 'work.mjs')]
  writeFileSync(served, `import { serve } from ${memoryHost}\nawait serve(process.argv[2])\n`)
  writeFileSync(program, `import { ${work} } from ${JSON.stringify(url)}\n`
    + `console.log(await ${work}(...process.argv.slice(2)))\n`)
  const child = spawn(process.execPath, [served, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [printed] = await once(child.stdout, 'data') as [Buffer]
    const host = JSON.parse(printed.toString()) as BenchHost
    const { stdout, stderr, status } = spawnSync(process.execPath, [
      program, host.profileFile, host.base, host.caFile, ...args,
    ], { encoding: 'utf8', maxBuffer: 2 ** 28 })
    if (status !== 0) throw new Error(`it ended with ${status}: ${stderr.slice(-2000)}`)
    return JSON.parse(stdout) as T
  } finally {
    child.kill()
    rmSync(dir, { recursive: true })
  }
}
