// How long a line of the program takes beside an empty program of the same Node: medians of wall
// time, measured in turns, so that whatever else the machine does meets both alike.
import { spawnSync } from 'node:child_process'

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

const timed = ([file, args], options) => {
  const start = performance.now()
  const { status, stderr } = spawnSync(file, args, { ...options, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - start
}

/**
 * @param {readonly [string, readonly string[]]} ours program and its arguments
 * @param {readonly [string, readonly string[]]} empty
 * @param {number} rounds
 * @param {object} options of `spawnSync`
 * @returns {number} ours over the other
 */
export const startsOf = (ours, empty, rounds, options) => {
  timed(empty, options)
  timed(ours, options)
  const [our, their] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    their.push(timed(empty, options))
    our.push(timed(ours, options))
  }
  return median(our) / median(their)
}
