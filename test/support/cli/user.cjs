/** Loaded before the program: an ordinary user, also where the tests run as root. */
'use strict'
process.getuid = () => 1000
