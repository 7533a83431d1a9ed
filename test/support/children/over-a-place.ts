/**
 * Preloaded with `--import`: each state that the worlds of the process make is one that machines
 * share, at a place in this process, and each line that runs here goes by it.
 */
import { register } from 'node:module'
import { overAPlace } from '../place/over-a-place.js'

process.env[overAPlace] = '1'
const driver = new URL('./memory-driver.js', import.meta.url).href
register(`data:text/javascript,${encodeURIComponent(`
  export const resolve = (specifier, context, next) =>
    next(specifier.endsWith('/postgres-place.js') ? ${JSON.stringify(driver)} : specifier, context)
`)}`)
