// Installs what is missing: nothing when what is installed is what the lock names.
import { readFileSync } from 'node:fs'
import { root, run } from './run.js'

/**
 * Runs `npm ci` when node_modules is absent or differs from package-lock.json; ends the process
 * with npm's own output when that fails.
 */
export const installMissing = async () => {
  if (installed()) return
  console.log('Installing what is missing (npm ci) …')
  const { status, output } = await run('npm', ['ci', '--loglevel=error'])
  if (status === 0) return
  console.error(output)
  process.exit(1)
}

// npm keeps the list of what it installed in a lock of its own. Comparing the two, rather than a
// stamp of ours, also notices a folder that npm itself changed since.
const installed = () => {
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  if (wanted === null || present === null) return false
  const own = Object.keys(wanted[''].optionalDependencies ?? {})
    .map((name) => `node_modules/${name}`)
  return Object.entries(wanted).every(
    ([path, { version, optional, os, cpu }]) =>
      path === '' || present[path]?.version === version
      || (optional === true && !(own.includes(path) && fitsHere(os, cpu))),
  )
}

/** Whether npm installs an optional package of ours on this machine. */
const fitsHere = (os = [], cpu = []) => os.includes(process.platform) && cpu.includes(process.arch)

const packagesOf = (path) => {
  try {
    return JSON.parse(readFileSync(`${root}/${path}`, 'utf8')).packages
  } catch {
    return null
  }
}
