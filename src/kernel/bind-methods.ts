/**
 * Lets callers detach the methods of a class, as in `const { run } = sandbox.store`. Each method is bound to its object on
 * first access, and costs nothing before.
 * @example class Store { static { bindMethods(Store) } }
 */
export function bindMethods({ prototype }: { readonly prototype: object }): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const { value: method } = descriptor
    if (name === 'constructor' || typeof method !== 'function') continue
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: object) {
        // On the prototype itself, such as a class or subclass, return the unbound method that all its objects share.
        if (this === prototype || Object.hasOwn(this, 'constructor')) return method
        const value: unknown = method.bind(this)
        Object.defineProperty(this, name, { value, configurable: true, writable: true })
        return value
      },
      // Tests may replace a method.
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, writable: true, enumerable: true })
      },
    })
  }
}
