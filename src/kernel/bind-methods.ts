/**
 * The methods of a class can be taken out of an object, as in `const { run } = sandbox.store`: each is bound to its object
 * when it is first asked for there, and costs nothing before.
 * @example class Store { static { detachable(Store) } }
 */
export function bindMethods({ prototype }: { readonly prototype: object }): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const { value: method } = descriptor
    if (name === 'constructor' || typeof method !== 'function') continue
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: object) {
        // Asked of a class, or of a subclass, it is the method of all objects.
        if (this === prototype || Object.hasOwn(this, 'constructor')) return method
        const value: unknown = method.bind(this)
        Object.defineProperty(this, name, { value, configurable: true, writable: true })
        return value
      },
      // A test may put something else in its place.
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, writable: true, enumerable: true })
      },
    })
  }
}
