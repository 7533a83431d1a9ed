/** The one HTTPS client of a run, loaded at the first contact: reading verbs never load it. */
import type { DeploymentProfile } from '../governance/profile.js'
import { refuseLeakyRuntime } from '../net/leaky-runtime.js'
import type { HttpsClient } from '../net/types.js'
import type { ClientWorld } from './world.js'

/**
 * Makes the client once; roots are Node's bundled ones or the profile's sealed loopback CA. Throws
 * `debug_output_refused` where the environment forbids every contact: whoever is about to claim,
 * to hold money or to write a task asks for the client first.
 */
export const clientOf = (
  world: ClientWorld, profile: DeploymentProfile,
): (() => Promise<HttpsClient>) => {
  let made: Promise<HttpsClient> | null = null
  const make = async (): Promise<HttpsClient> => {
    refuseLeakyRuntime(world.env, world.execArgv)
    const [{ createHttpsClient }, { bundledRoots }] = await Promise.all([
      import('../net/client.js'), import('../net/roots.js'),
    ])
    return createHttpsClient({
      clock: world.clock,
      env: world.env,
      execArgv: world.execArgv,
      resolve: world.resolve,
      ca: profile.ca_pem === null ? bundledRoots() : [profile.ca_pem],
      loopbackOnly: profile.loopback,
    })
  }
  return () => (made ??= make())
}
