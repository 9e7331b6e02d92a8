import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

process.env.APP_URL = 'https://shop.test'

export const sandbox = useSandbox()
