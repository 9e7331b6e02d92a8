import { msw, mswFast } from './adapters/msw.js'
import { contractSuite } from './suite.js'

contractSuite(msw)
contractSuite(mswFast)
