// Extracts a redis-server from Debian's packages into `.cache`, without installing it.
import { findRedisServer, obtainRedisServer } from './redis-server.ts'

if (!findRedisServer()) await obtainRedisServer()
