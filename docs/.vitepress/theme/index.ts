import type { Theme } from 'vitepress'
import { useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { defineAsyncComponent, h, nextTick, onMounted, watch } from 'vue'
import SiteFooter from './SiteFooter.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, undefined, { 'doc-after': () => h(SiteFooter) }),
  enhanceApp({ app }) {
    app.component(
      'PlayGround',
      defineAsyncComponent(() => import('./PlayGround.vue')),
    )
  },
  setup() {
    const route = useRoute()
    onMounted(fixNames)
    watch(
      () => route.path,
      () => nextTick(fixNames),
    )
  },
} satisfies Theme

/** Corrects elements of VitePress' theme whose accessible names or roles differ from what the page shows. */
function fixNames(): void {
  // The heading of a group is a button, and its arrow is a second button that does the same.
  for (const arrow of document.querySelectorAll('.VPSidebarItem.level-0 .caret')) {
    arrow.removeAttribute('role')
    arrow.removeAttribute('tabindex')
    arrow.setAttribute('aria-hidden', 'true')
  }
  // The text of the search button includes its keyboard shortcut. A label would replace that text.
  document.querySelector('.DocSearch-Button')?.removeAttribute('aria-label')
}
