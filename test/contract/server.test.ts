import { adoptingServer, nodeListener, serve } from './adapters/server.js'
import { contractSuite } from './suite.js'

contractSuite(nodeListener)
contractSuite(serve)
contractSuite(adoptingServer)
