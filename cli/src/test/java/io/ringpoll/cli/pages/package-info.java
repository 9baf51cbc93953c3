/** Checks the pages: README.md, docs/ and the other Markdown files at the root. */
package io.ringpoll.cli.pages;
