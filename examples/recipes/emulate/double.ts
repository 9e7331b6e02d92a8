import { createEmulator, defineEmulator } from 'emulate'
import { createSandbox, type Sandbox, type SandboxDump } from 'stuntdouble'

export interface State {
  /** State of the sandbox with its time. `null`: a new sandbox. */
  dump: SandboxDump | null
}

/** Serves a sandbox with emulate. `prepare` registers destinations, external hosts and fault rules. */
export async function startDouble(port: number, prepare: (sandbox: Sandbox) => void) {
  let mounted: { readonly sandbox: Sandbox; readonly state: State } | undefined
  const service = defineEmulator<State>({
    name: 'double',
    state: () => ({ dump: null }),
    // emulate calls setup() at the start, and again at each reset and restore.
    setup({ app, state, baseUrl, onDispose }) {
      const sandbox = createSandbox({ urls: { base: baseUrl } })
      onDispose(() => sandbox.dispose())
      if (state.dump !== null) sandbox.load(state.dump)
      prepare(sandbox)
      app.use(({ req }) => sandbox.fetch(req.raw))
      mounted = { sandbox, state }
    },
  })
  const emulator = await createEmulator({ service, port })
  return {
    ...emulator,
    /** The sandbox since the last reset or restore. */
    get sandbox(): Sandbox {
      return mounted!.sandbox
    },
    /** Returns the whole state of the sandbox with its time, for `restore()`. */
    snapshot() {
      mounted!.state.dump = mounted!.sandbox.dump()
      return emulator.snapshot()
    },
  }
}
