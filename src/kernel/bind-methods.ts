/**
 * Binds the methods of a class to its objects, so that callers can write `const { run } = sandbox.store`. A method is
 * bound when it is first read from an object, so unused methods cost nothing.
 * @example class Store { static { bindMethods(Store) } }
 */
export function bindMethods({ prototype }: { readonly prototype: object }): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const { value: method } = descriptor
    if (name === 'constructor' || typeof method !== 'function') continue
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: object) {
        // If the method is read from a prototype, such as `Store.prototype`, there is no object to bind to. So return
        // the method itself.
        if (this === prototype || Object.hasOwn(this, 'constructor')) return method
        const value: unknown = method.bind(this)
        Object.defineProperty(this, name, { value, configurable: true, writable: true })
        return value
      },
      // A test may assign its own function to a method. The function is stored on this object only.
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, writable: true, enumerable: true })
      },
    })
  }
}
