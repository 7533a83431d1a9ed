/** Whether the worlds of this process make states that machines share; see `children/`. */

/** The variable that says so. */
export const overAPlace = 'SALLYPORT_TEST_OVER_A_PLACE'

/** Further words of an `init` there; none elsewhere. */
export const sharedWords = (): readonly string[] => (process.env[overAPlace] === '1'
  ? ['--shared', 'postgres://ops@127.0.0.1/sallyport', '--machine-name', 'here'] : [])
