/* GTK 3: the picker's window. What Swift can't import is here: macros that cast, and variadic signal connections. */
#pragma once
#include <glib-unix.h>
#include <gtk/gtk.h>

/* Handlers get what was connected first and the signal's own first argument second, as g_signal_connect_swapped() calls
 * them; the rest of the arguments is left out. */
typedef gboolean (*cgtk_handler)(gpointer data, gpointer argument);

static inline void cgtk_connect(gpointer object, const char *signal, cgtk_handler handler, gpointer data) {
    g_signal_connect_swapped(object, signal, G_CALLBACK(handler), data);
}

static inline GtkWindow *cgtk_window(GtkWidget *widget) { return GTK_WINDOW(widget); }
static inline GtkContainer *cgtk_container(GtkWidget *widget) { return GTK_CONTAINER(widget); }
static inline GtkBox *cgtk_box(GtkWidget *widget) { return GTK_BOX(widget); }
static inline GtkOverlay *cgtk_overlay(GtkWidget *widget) { return GTK_OVERLAY(widget); }
static inline GtkLabel *cgtk_label(GtkWidget *widget) { return GTK_LABEL(widget); }
static inline GtkImage *cgtk_image(GtkWidget *widget) { return GTK_IMAGE(widget); }
static inline GtkButton *cgtk_button(GtkWidget *widget) { return GTK_BUTTON(widget); }
static inline GtkFlowBox *cgtk_flow_box(GtkWidget *widget) { return GTK_FLOW_BOX(widget); }
static inline GtkComboBox *cgtk_combo_box(GtkWidget *widget) { return GTK_COMBO_BOX(widget); }
static inline GtkComboBoxText *cgtk_combo_box_text(GtkWidget *widget) { return GTK_COMBO_BOX_TEXT(widget); }
static inline GtkScrolledWindow *cgtk_scrolled_window(GtkWidget *widget) { return GTK_SCROLLED_WINDOW(widget); }
static inline GtkStyleProvider *cgtk_style_provider(GtkCssProvider *provider) { return GTK_STYLE_PROVIDER(provider); }
