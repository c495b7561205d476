// The script of the documents, which shows them in the theme of the page.

import { chosenTheme, showTheme } from "./theme.js";

showTheme(chosenTheme());
