import { adoptingServer, nodeListener, rootOfServer, serve } from './adapters/server.js'
import { contractSuite } from './suite.js'

contractSuite(nodeListener)
contractSuite(serve)
contractSuite(rootOfServer)
contractSuite(adoptingServer)
