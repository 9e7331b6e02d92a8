import type { Theme } from 'vitepress'
import { useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent, nextTick, onMounted, watch } from 'vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component(
      'PlayGround',
      defineAsyncComponent(() => import('./PlayGround.vue')),
    )
  },
  setup() {
    const route = useRoute()
    onMounted(mendNames)
    watch(
      () => route.path,
      () => nextTick(mendNames),
    )
  },
} satisfies Theme

/** What VitePress' theme says to a screen reader otherwise than it shows. */
function mendNames(): void {
  // The heading of a group is a button, and the arrow in it another one that does the same.
  for (const arrow of document.querySelectorAll('.VPSidebarItem.level-0 .caret')) {
    arrow.removeAttribute('role')
    arrow.removeAttribute('tabindex')
    arrow.setAttribute('aria-hidden', 'true')
  }
  // Its text says what it is, with the key that opens it.
  document.querySelector('.DocSearch-Button')?.removeAttribute('aria-label')
}
