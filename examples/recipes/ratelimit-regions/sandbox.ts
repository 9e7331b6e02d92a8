import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

// The limiter counts in windows of Date, so Date must follow the sandbox's clock.
export const sandbox = useSandbox({ timers: 'follow', databases: ['eu', 'us'] })

// `Redis.fromEnv()` uses the first database. The app reads the others from variables of its own.
for (const database of ['eu', 'us']) {
  const { url, token } = { url: sandbox.urls.databases[database], token: sandbox.tokens.databases[database]?.store }
  const name = database.toUpperCase()
  Object.assign(process.env, { [`${name}_REDIS_REST_URL`]: url, [`${name}_REDIS_REST_TOKEN`]: token })
}
