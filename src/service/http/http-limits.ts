/** Limits that a server of the service is made with. */

/** Connections of one listener at one time; each address and port that it listens on is one. */
export const connectionsMax = 512

/** Those among them, of other machines, that have shown no credential yet. */
export const newcomersMax = 128

/** Most requests of one connection that wait for each other's replies. */
export const waitingMax = 32

/** How long a connection stays behind its last reply, for whoever still takes that, ms. */
export const lingerMs = 2_000

/** Limits of a plain server. */
export const plainLimits = {
  headersTimeout: 10_000, requestTimeout: 120_000, keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000, maxHeaderSize: 16_384,
  // Without a Host our own refusal is told, with a body.
  requireHostHeader: false,
  // NODE_OPTIONS could make readers of what two read differently.
  insecureHTTPParser: false,
} as const

/** The same for TLS. */
export const tlsLimits = {
  ...plainLimits, ALPNProtocols: ['http/1.1'], handshakeTimeout: 5_000,
} as const
