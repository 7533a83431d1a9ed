import { rootCertificates } from 'node:tls'

/**
 * The roots that come with Node, written out at every connect so that no variable of the
 * environment changes what is trusted. PEM, about 140 certificates; parsing them costs tens of ms.
 */
export const bundledRoots = (): readonly string[] => [...rootCertificates]
