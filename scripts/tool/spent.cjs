// What test files cost: processor seconds, and seconds on the clock.
'use strict'
const { appendFileSync, readFileSync } = require('node:fs')

/** Ticks of the kernel in a second, everywhere that Node runs on Linux. */
const ticksPerSecond = 100

/** Processor seconds of the children that were waited for; 0 where the kernel does not tell. */
const ofChildren = () => {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
  } catch {
    return 0
  }
}

/** Processor seconds of this process and its children so far. */
exports.spent = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + ofChildren()
}

/** Tells the runner what a test file cost. */
exports.note = (file, cpu, wall) => {
  const path = process.env.SALLYPORT_TEST_SECONDS
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ file, cpu, wall })}\n`)
}
