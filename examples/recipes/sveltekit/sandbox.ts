import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

process.env.APP_URL = 'https://club.test'

export const sandbox = useSandbox()
